package io.idempotency.proofs.history;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;

import reactor.core.publisher.Mono;

import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.server.ResponseStatusException;

/**
 * What is guarded: it writes down that it begins and how it ends. Most of it is short;
 * some outlives its lease unless that is renewed, some fails, and no two runs return the
 * same.
 */
final class HistoryWork {

	private static final int PERCENT_THAT_FAIL = 4;

	private static final int LARGE = 20_000;

	private final String process;

	private final Journal journal;

	private final Duration lease;

	private final AtomicLong runs = new AtomicLong();

	HistoryWork(String process, Journal journal, Duration lease) {
		this.process = process;
		this.journal = journal;
		this.lease = lease;
	}

	ResponseEntity<byte[]> run(Operation operation, String key, String variant, Consumer<String> effect) {
		String run = begin(operation, key, variant);
		boolean done = false;
		try {
			effect.accept(run);
			long end = System.nanoTime() + length().toNanos();
			while (System.nanoTime() - end < 0) {
				LockSupport.parkNanos(end - System.nanoTime());
			}
			ResponseEntity<byte[]> answer = end(run, key, variant);
			done = true;
			return answer;
		}
		finally {
			if (!done) {
				this.journal.write("failed", run);
			}
		}
	}

	/** The same where nothing may block. What is cancelled says nothing of its end. */
	Mono<ResponseEntity<byte[]>> later(Operation operation, String key, String variant,
			Function<String, Mono<?>> effect) {
		return Mono.defer(() -> {
			String run = begin(operation, key, variant);
			return effect.apply(run)
				.then(Mono.delay(length()))
				.map((tick) -> end(run, key, variant))
				.doOnError((failure) -> this.journal.write("failed", run));
		});
	}

	private String begin(Operation operation, String key, String variant) {
		String run = this.process + "-" + this.runs.incrementAndGet();
		this.journal.write("start", run, key, variant, operation, this.process);
		return run;
	}

	private ResponseEntity<byte[]> end(String run, String key, String variant) {
		Random chance = ThreadLocalRandom.current();
		if (chance.nextInt(100) < PERCENT_THAT_FAIL) {
			throw new ResponseStatusException(HttpStatus.INTERNAL_SERVER_ERROR);
		}
		byte[] body = body(run, key, variant, chance);
		this.journal.write("done", run, Digest.of(body));
		return ResponseEntity.created(URI.create("/results/" + run))
			.header("X-Run", run)
			.contentType(MediaType.APPLICATION_OCTET_STREAM)
			.body(body);
	}

	private static byte[] body(String run, String key, String variant, Random chance) {
		String text = run + " " + key + " " + variant + " ";
		int padding = (chance.nextInt(100) == 0) ? LARGE : chance.nextInt(200);
		return (text + Long.toHexString(chance.nextLong()) + "x".repeat(padding)).getBytes(StandardCharsets.US_ASCII);
	}

	private Duration length() {
		Random chance = ThreadLocalRandom.current();
		int percent = chance.nextInt(100);
		long millis = chance.nextInt(5);
		if (percent < 1) {
			long lease = this.lease.toMillis();
			millis = lease / 2 + chance.nextInt((int) lease);
		}
		else if (percent < 21) {
			millis = 20 + chance.nextInt(60);
		}
		return Duration.ofMillis(millis);
	}

}
