package io.journalq.server.group.model;

/**
 * Who asks.
 *
 * @param clientId name that the client gives itself
 * @param clientHost its address, for people
 */
public record Origin(String clientId, String clientHost) {}
