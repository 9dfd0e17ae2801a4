/**
 * What an operator observes from outside: metrics and health, over HTTP.
 *
 * <p>In: counters and suppliers of the other parts, which are only read when a page is requested. Out: the Prometheus
 * page and the health page of the admin listener. Knows neither requests nor partitions: their owners register their
 * own metrics.
 */
package io.journalq.server.observe;
