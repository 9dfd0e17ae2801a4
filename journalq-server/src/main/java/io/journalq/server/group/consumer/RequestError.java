package io.journalq.server.group.consumer;

import io.journalq.common.protocol.ErrorCode;

/** Why a request is rejected: the error code for the client and a message for its user. */
public record RequestError(ErrorCode code, String message) {}
