/** Commands for profiles: the brokers that a user has given names. They connect to no broker. */
package io.journalq.cli.profile;
