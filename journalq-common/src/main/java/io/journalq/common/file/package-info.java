/** What is wrong with files that users name. Depends on no other package of the project. */
package io.journalq.common.file;
