/**
 * Handlers of the administrative APIs, which describe and change the cluster.
 *
 * <p>In: requests, the newest metadata image. Out: operations for the controller, responses. They must not touch
 * partitions or journals.
 */
package io.journalq.server.api.admin;
