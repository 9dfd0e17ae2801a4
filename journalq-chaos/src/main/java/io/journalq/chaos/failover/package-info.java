/**
 * For how long clients get no acknowledgement when a broker of a cluster dies, freezes, is cut off or stops.
 */
package io.journalq.chaos.failover;
