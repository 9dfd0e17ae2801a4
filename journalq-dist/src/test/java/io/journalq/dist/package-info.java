/**
 * Runs the scripts as a user would, from the archive and from a checkout. In comes what the build has just packed; nothing
 * of it is on these tests' class path.
 */
package io.journalq.dist;
