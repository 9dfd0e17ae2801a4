/** The common parts of groups of all types: their listing, their size in memory, and the origin of a request. Pure. */
package io.journalq.server.group.model;
