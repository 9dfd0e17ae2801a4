/**
 * Fault injection into a broker process under load. {@link io.journalq.chaos.ChaosMain} is the command line. Each
 * message carries its producer, its number and a checksum. Each acknowledged message must be read back once and in
 * order.
 */
package io.journalq.chaos;
