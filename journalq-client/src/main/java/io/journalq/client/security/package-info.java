/** How clients prove to brokers who they are, and brokers to clients. */
package io.journalq.client.security;
