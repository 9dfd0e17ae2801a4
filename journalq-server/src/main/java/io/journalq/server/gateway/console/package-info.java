/**
 * The web console: static files of the class path, below the path {@code /console}. In: requests for files. Out: the
 * files, compressed once. Knows nothing of the broker: the console uses the other routes.
 */
package io.journalq.server.gateway.console;
