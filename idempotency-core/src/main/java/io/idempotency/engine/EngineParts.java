package io.idempotency.engine;

import io.idempotency.Internal;
import io.idempotency.protocol.EncryptedResults;
import io.idempotency.upkeep.Claimer;
import io.idempotency.upkeep.Events;
import io.idempotency.upkeep.Upkeep;
import org.jspecify.annotations.Nullable;

/**
 * What the drivers of one application share: one for callers that block, and one for each
 * other style of calling.
 *
 * @param upkeep what goes on beside the calls
 * @param claimer knows what the answers to claims mean
 * @param replays gives duplicates their results
 * @param results encrypts results
 * @param events reports what happens
 * @param origins tells where a claim comes from
 * @param observer sees the calls, {@code null} if nobody does
 * @hidden
 * @since 0.1.0
 */
@Internal
public record EngineParts(Upkeep upkeep, Claimer claimer, Replays replays, EncryptedResults results, Events events,
		ClaimOriginSource origins, @Nullable CallObserver observer) {
}
