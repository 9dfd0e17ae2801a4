/**
 * What goes in and out of a consumer that is a member of a group: its listener, patterns of topics, committed offsets.
 * Immutable values; the work is done in {@code membership}.
 */
package io.journalq.client.group;
