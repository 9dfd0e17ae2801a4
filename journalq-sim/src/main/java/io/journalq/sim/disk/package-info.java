/**
 * A disk with all its vices, in memory and from a seed, behind the same port as the production code's files: what was not
 * synced is lost in any combination, writes are torn, bits flip, writes go astray, calls fail, room runs out, and every call
 * is a place to crash at.
 *
 * <p>In: calls of {@link io.journalq.server.journal.file.FileStore}; a plan of faults. Out: bytes, or an exception. Knows
 * nothing of what is in the files. One thread.
 */
package io.journalq.sim.disk;
