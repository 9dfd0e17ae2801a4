/**
 * A simulated disk with faults, in memory. It implements the same interface as the production files. Data that were not
 * fsynced are lost in any combination, writes are torn or misdirected, bits flip, calls fail, the disk becomes full,
 * and the process can crash at each call.
 *
 * <p>In: calls of {@link io.journalq.server.journal.file.FileStore}, and a plan of faults. Out: bytes, or an exception.
 * The package does not know what the files contain. One thread.
 */
package io.journalq.sim.disk;
