package io.journalq.server.group.model;

/**
 * The sender of a request.
 *
 * @param clientId name that the client gives itself
 * @param clientHost its address, for people
 */
public record Origin(String clientId, String clientHost) {}
