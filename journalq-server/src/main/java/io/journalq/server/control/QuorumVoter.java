package io.journalq.server.control;

import io.journalq.common.id.Uuid;

/**
 * A broker that votes on the metadata.
 *
 * @param directoryId the directory that holds its log
 * @param host at which the other voters reach it
 */
public record QuorumVoter(int nodeId, Uuid directoryId, String host, int port) {}
