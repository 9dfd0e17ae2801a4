/**
 * Routes that show and change topics, configurations, groups, quotas, transactions and the cluster. In: requests with
 * JSON objects. Out: calls of the broker's handlers, which check rights and quotas, and JSON objects. Changes that lose
 * something only show what they would do, unless the request has {@code "execute": true}.
 */
package io.journalq.server.gateway.rest;
