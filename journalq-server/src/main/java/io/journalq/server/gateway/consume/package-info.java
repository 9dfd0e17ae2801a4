/**
 * Reading over HTTP. In: the position of a reader. Out: records as lines of JSON or as events, which come from the
 * broker's Fetch handler. The log is the buffer: a reader that stops reading holds one part of the response and no
 * records.
 */
package io.journalq.server.gateway.consume;
