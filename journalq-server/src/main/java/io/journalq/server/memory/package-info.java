/**
 * The heap that the broker's state may use. Code that keeps state for clients charges an estimate of its size to one
 * part of the budget. It asks for room before it accepts more, and releases the charge of what it drops. Pure packages
 * know only {@link io.journalq.server.memory.MemoryAccount}. Requests and responses are not state: package {@code
 * network} accounts for them.
 */
package io.journalq.server.memory;
