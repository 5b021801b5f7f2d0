// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.mckey;

import io.verbena.verbs.Gid;
import java.time.Duration;

/**
 * What a run does.
 *
 * @param size bytes of a message
 * @param count messages to send, or to wait for
 * @param timeout how long to wait for a message
 * @param pause how long a sender lets the others join
 */
record MckeyOptions(Gid group, int size, int count, Duration timeout, Duration pause) {}
