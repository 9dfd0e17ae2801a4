package io.journalq.client.membership;

import io.journalq.common.id.Uuid;

/** A partition by its topic's id, as the group's protocol names it. A topic of the same name made anew is another. */
record Owned(Uuid topicId, int partition) {}
