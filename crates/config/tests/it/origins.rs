//! The five systems that Switchboard was asked to replace: each one's own examples, and each one's
//! own rules.

mod aicib;
mod annabelle;
mod nebo;
mod openassistant;
mod precedence;
mod rules;
mod spacebot;
