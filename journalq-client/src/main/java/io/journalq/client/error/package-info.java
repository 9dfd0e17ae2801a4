/**
 * The errors that the client throws, one class per thing an application may want to catch. In: error codes of the
 * protocol and what the client notices itself. Out: an exception whose message says what to do. Knows nothing of
 * connections or requests.
 */
package io.journalq.client.error;
