/** Commands for a broker on this machine, which they identify by its configuration and its data directory. */
package io.journalq.cli.local;
