package io.journalq.server.group.consumer;

import io.journalq.common.protocol.ErrorCode;

/** Why a request is refused: the code for the client, the words for its user. */
public record Fault(ErrorCode code, String message) {}
