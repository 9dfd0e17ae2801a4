/**
 * What an operator sees from outside: metrics and health, over HTTP.
 *
 * <p>In: counters and suppliers of the other parts, read only when somebody asks. Out: the Prometheus page and the
 * health answer of the admin listener. Knows neither requests nor partitions: their owners say what to show.
 */
package io.journalq.server.observe;
