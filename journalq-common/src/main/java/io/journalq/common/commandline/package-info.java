/**
 * What the command lines of all programs share. Needs picocli, which only the programs have. Depends on {@link
 * io.journalq.common.unit} only.
 */
package io.journalq.common.commandline;
