/**
 * Connections to brokers and what is known of the cluster. In: requests for a broker or for any. Out: answers, or the
 * exception that says why there is none. Everything here belongs to one event loop per client, except where a class
 * says otherwise. Must not know what the requests mean to producer, consumer or admin.
 */
package io.journalq.client.network;
