/**
 * Commands for rights: ACLs, decisions by them, and the audit log. Decisions and the chain of the audit log are computed
 * by the classes of the broker.
 */
package io.journalq.cli.access;
