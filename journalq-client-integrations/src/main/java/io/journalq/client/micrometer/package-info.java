/** The counters of producers and consumers as meters of Micrometer. Needs {@code micrometer-core}. */
package io.journalq.client.micrometer;
