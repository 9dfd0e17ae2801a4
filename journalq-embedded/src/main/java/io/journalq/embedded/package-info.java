/**
 * A broker inside another process, mostly that of a test: settings come in, an address for clients goes out. It knows the
 * broker's composition root and its settings, and no part of the broker behind them.
 */
package io.journalq.embedded;
