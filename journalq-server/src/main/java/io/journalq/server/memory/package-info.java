/**
 * What the broker's state may take of the heap. Whoever keeps state that clients cause charges an estimate of its size to
 * one part of the budget, asks for room before it takes in more, and gives back what it drops. Pure packages see {@link
 * io.journalq.server.memory.MemoryAccount} only. Requests and responses are not state: the network counts them.
 */
package io.journalq.server.memory;
