package io.journalq.sim.disk;

import java.nio.file.Path;

/**
 * A bit that flipped in what a disk held.
 *
 * @param file that it is in
 * @param position of its byte
 * @param before what the file held
 */
@SuppressWarnings("ArrayRecordComponent") // A plain holder, never compared.
public record Damage(Path file, int position, byte[] before) {}
