/** What goes into and comes out of {@link io.journalq.client.Admin}: immutable values. Knows nothing of the wire. */
package io.journalq.client.admin;
