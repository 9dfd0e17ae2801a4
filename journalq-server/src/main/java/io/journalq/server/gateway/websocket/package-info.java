/**
 * WebSockets of the gateway (RFC 6455): records in both directions over one connection. In: messages of a client. Out:
 * messages with records, which come from the broker's Fetch handler while the client has given credit and reads. The log
 * is the buffer: a client that stops reading holds one message and no records.
 */
package io.journalq.server.gateway.websocket;
