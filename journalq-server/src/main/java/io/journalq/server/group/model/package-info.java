/** What groups of every kind have in common: their listing, their size in memory, and the origin of a request. Pure. */
package io.journalq.server.group.model;
