package io.idempotency.reactor;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

import io.idempotency.engine.CallOutcome;
import io.idempotency.codec.UnreadableResultException;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Work whose result is a text, or nothing. */
final class TextAction implements ReactiveAction<String> {

	final AtomicInteger runs = new AtomicInteger();

	final AtomicInteger lookUps = new AtomicInteger();

	final AtomicInteger cancelled = new AtomicInteger();

	private final Mono<String> work;

	private Mono<String> found = Mono.empty();

	private Predicate<Throwable> duplicate = (failure) -> false;

	volatile @Nullable ReactiveClaim claim;

	TextAction(Mono<String> work) {
		this.work = work;
	}

	TextAction finding(Mono<String> found) {
		this.found = found;
		return this;
	}

	TextAction duplicateOn(Class<? extends Throwable> type) {
		this.duplicate = type::isInstance;
		return this;
	}

	@Override
	public void acquired(ReactiveClaim acquired) {
		this.claim = acquired;
	}

	@Override
	public Mono<String> run() {
		return this.work.doOnSubscribe((subscription) -> this.runs.incrementAndGet())
			.doOnCancel(this.cancelled::incrementAndGet);
	}

	@Override
	public Mono<String> recover() {
		this.lookUps.incrementAndGet();
		return this.found;
	}

	@Override
	public boolean isDuplicate(Throwable failure) {
		return this.duplicate.test(failure);
	}

	@Override
	public @Nullable String replay(StoredResult result) {
		String text = new String(result.bytes(), StandardCharsets.UTF_8);
		if (!result.format().equals("text")) {
			throw new UnreadableResultException("Not a text");
		}
		return text.isEmpty() ? null : text.substring(1);
	}

	@Override
	public CallOutcome returned(@Nullable String value, boolean recovered) {
		return new CallOutcome.Done(() -> text((value != null) ? "=" + value : ""));
	}

	static StoredResult text(String text) {
		return new StoredResult("text", text.getBytes(StandardCharsets.UTF_8));
	}

	@Override
	public CallOutcome threw(Throwable failure) {
		return new CallOutcome.Failed(failure, null);
	}

}
