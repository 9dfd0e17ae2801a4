/**
 * How a client fares whose neighbours behave as badly as the protocol lets them. One program starts a broker, has a healthy
 * client send at a fixed rate, and starts each kind of hostile load as a process of its own beside it; what it prints is
 * the healthy client's latency with and without, and what the broker counted and held. Knows the wire and nothing of the
 * broker's inside.
 */
package io.journalq.chaos.hostile;
