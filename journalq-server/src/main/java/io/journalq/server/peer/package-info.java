/**
 * Requests of this broker to other brokers of its cluster. In: requests, and the address of a broker. Out: responses.
 * The only package of the server that opens connections. It knows nothing of what the requests mean.
 */
package io.journalq.server.peer;
