/**
 * What the broker's state may take of the heap. Code that keeps state for clients charges an estimate of its size to one
 * part of the budget, asks for room before it accepts more, and gives back what it drops. Pure packages see {@link
 * io.journalq.server.memory.MemoryAccount} only. Requests and responses are not state: the network counts them.
 */
package io.journalq.server.memory;
