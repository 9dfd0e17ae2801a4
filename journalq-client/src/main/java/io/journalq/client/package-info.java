/**
 * The entry points of the client: {@link io.journalq.client.Producer}, {@link io.journalq.client.Consumer} and {@link
 * io.journalq.client.Admin}. Each is created by its builder, owns its connections, and must be closed.
 *
 * <p>The other packages of the API hold the values that these classes take and return, and the exceptions that they throw.
 * Packages below {@code io.journalq.client.internal} are not part of the API and may change in any release.
 */
package io.journalq.client;
