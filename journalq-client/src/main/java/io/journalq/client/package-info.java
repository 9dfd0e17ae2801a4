/**
 * The client's public face: {@link io.journalq.client.Producer}, {@link io.journalq.client.Consumer} and
 * {@link io.journalq.client.Admin}, with the values that go in and come out. The work is done in {@code network},
 * {@code coordinator}, {@code produce}, {@code fetch} and {@code membership}, which applications leave alone. Knows nothing of the broker's inside.
 */
package io.journalq.client;
