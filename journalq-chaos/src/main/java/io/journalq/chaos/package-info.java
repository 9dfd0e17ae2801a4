/**
 * Real brokers under real load, killed and frozen at random moments: {@link io.journalq.chaos.ChaosMain} is the command
 * line. Every message carries who sent it, its number and a checksum; every acknowledged one must be read back, in order
 * and once.
 */
package io.journalq.chaos;
