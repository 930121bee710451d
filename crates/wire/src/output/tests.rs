//! That what is looked for is found, and nothing else changes.
