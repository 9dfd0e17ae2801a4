/** Commands about a broker of this machine, which they know by its configuration and its data folder. */
package io.journalq.cli.local;
