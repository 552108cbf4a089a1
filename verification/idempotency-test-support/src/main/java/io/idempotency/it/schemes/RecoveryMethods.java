package io.idempotency.it.schemes;

import io.idempotency.AbandonedMode;
import io.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;

import org.springframework.stereotype.Service;

/** What the business data knows of a call, by the method adapter. */
@Service
class RecoveryMethods {

	private final Effects effects;

	RecoveryMethods(Effects effects) {
		this.effects = effects;
	}

	@Idempotent(key = "#key", duplicateOn = AlreadyThereException.class)
	String indexed(String key, String id) {
		return this.effects.of(id).run();
	}

	@Idempotent(key = "#key", duplicateOn = AlreadyThereException.class, recover = "find")
	String recovered(String key, String id) {
		return this.effects.of(id).run();
	}

	@Nullable String find(String key, String id) {
		return this.effects.of(id).find();
	}

	@Idempotent(key = "#key")
	String rerun(String key, String id) {
		return this.effects.of(id).run();
	}

	@Idempotent(key = "#key", onAbandoned = AbandonedMode.REJECT)
	String reject(String key, String id) {
		return this.effects.of(id).run();
	}

	@Idempotent(key = "#key", onAbandoned = AbandonedMode.REJECT, recover = "find")
	String recover(String key, String id) {
		return this.effects.of(id).run();
	}

}
