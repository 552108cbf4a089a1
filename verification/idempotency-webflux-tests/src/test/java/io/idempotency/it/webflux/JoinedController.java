package io.idempotency.it.webflux;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;

import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import io.idempotency.reactor.ReactiveIdempotencyContext;
import io.r2dbc.spi.ConnectionFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseCookie;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebExchange;

/**
 * Handlers whose record commits with their work, which is a row of the table
 * {@code payment} for each run.
 */
@RestController
@RequestMapping("/join")
@EnableTransactionManagement
class JoinedController {

	static final Map<String, Sinks.Empty<Void>> ENTERED = new ConcurrentHashMap<>();

	static final Map<String, Sinks.Empty<Void>> GATES = new ConcurrentHashMap<>();

	private static final Set<String> FAILED = ConcurrentHashMap.newKeySet();

	private static final String KEY = "Idempotency-Key";

	private final Ledger ledger;

	JoinedController(Ledger ledger) {
		this.ledger = ledger;
	}

	@Idempotent(transaction = TransactionMode.JOIN)
	@PostMapping("/pay")
	Mono<ResponseEntity<String>> pay(@RequestHeader(KEY) String key) {
		return this.ledger.pay(key)
			.then(Mono.fromSupplier(
					() -> ResponseEntity.status(HttpStatus.CREATED).header("X-Payment", key).body("paid " + key)));
	}

	@Idempotent(transaction = TransactionMode.JOIN)
	@PostMapping("/empty")
	Mono<Void> empty(@RequestHeader(KEY) String key) {
		return this.ledger.pay(key);
	}

	/** Spring subscribes to the work of such a handler before it has a result. */
	@Idempotent(transaction = TransactionMode.JOIN)
	@PostMapping("/created")
	@ResponseStatus(HttpStatus.CREATED)
	Mono<Void> created(@RequestHeader(KEY) String key) {
		return this.ledger.pay(key);
	}

	@Idempotent(transaction = TransactionMode.JOIN)
	@PostMapping("/written")
	Mono<Void> written(@RequestHeader(KEY) String key, ServerWebExchange exchange) {
		ServerHttpResponse response = exchange.getResponse();
		return this.ledger.pay(key)
			.then(Mono.defer(() -> response
				.writeWith(Mono.just(response.bufferFactory().wrap(key.getBytes(StandardCharsets.UTF_8))))));
	}

	@Idempotent(transaction = TransactionMode.JOIN)
	@PostMapping("/created-fails")
	@ResponseStatus(HttpStatus.CREATED)
	Mono<Void> createdFails(@RequestHeader(KEY) String key) {
		return this.ledger.pay(key).then(Mono.error(new IllegalStateException("It fails on purpose")));
	}

	@Idempotent(transaction = TransactionMode.JOIN)
	@PostMapping("/below")
	Mono<String> below(@RequestHeader(KEY) String key) {
		return this.ledger.payInTransaction(key).thenReturn("paid " + key);
	}

	@Transactional
	@Idempotent(transaction = TransactionMode.JOIN)
	@PostMapping("/transactional")
	Mono<String> transactional(@RequestHeader(KEY) String key) {
		return this.ledger.pay(key).thenReturn("paid " + key);
	}

	@Idempotent(transaction = TransactionMode.JOIN)
	@PostMapping("/fails")
	Mono<String> fails(@RequestHeader(KEY) String key) {
		return this.ledger.pay(key).then(Mono.error(new IllegalStateException("It fails on purpose")));
	}

	@Idempotent(transaction = TransactionMode.JOIN)
	@PostMapping("/swallowed")
	Mono<String> swallowed(@RequestHeader(KEY) String key) {
		return this.ledger.pay(key)
			.then(this.ledger.failInTransaction())
			.onErrorResume(IllegalStateException.class, (ex) -> Mono.empty())
			.thenReturn("paid");
	}

	@Idempotent(transaction = TransactionMode.JOIN)
	@PostMapping("/rejects")
	Mono<String> rejects(@RequestHeader(KEY) String key) {
		return this.ledger.pay(key).then(Mono.error(new ResponseStatusException(HttpStatus.CONFLICT, "sold out")));
	}

	@Idempotent(transaction = TransactionMode.JOIN, onFailure = FailureMode.REMEMBER)
	@PostMapping("/remembered")
	Mono<String> remembered(@RequestHeader(KEY) String key) {
		return this.ledger.pay(key).then(Mono.error(new IllegalStateException("It fails on purpose")));
	}

	@Idempotent(transaction = TransactionMode.JOIN)
	@PostMapping("/handled")
	Mono<String> handled(@RequestHeader(KEY) String key) {
		return this.ledger.pay(key).then(Mono.error(new Handled(key)));
	}

	/** Its own rows are no part of the transaction that was rolled back. */
	@ExceptionHandler
	Mono<ResponseEntity<String>> handle(Handled ex) {
		return this.ledger.pay(ex.getMessage() + "-handled")
			.thenReturn(ResponseEntity.unprocessableEntity().body("handled"));
	}

	@ExceptionHandler
	ResponseEntity<String> handle(DataIntegrityViolationException ex, ServerWebExchange exchange) {
		return ResponseEntity.status(HttpStatus.CONFLICT)
			.header("X-Seen-Headers", String.valueOf(exchange.getResponse().getHeaders().getFirst("X-Payment")))
			.body("not committed");
	}

	@Idempotent(transaction = TransactionMode.JOIN)
	@PostMapping("/unavailable")
	Mono<ResponseEntity<String>> unavailable(@RequestHeader(KEY) String key) {
		return this.ledger.pay(key).thenReturn(ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE).body("later"));
	}

	/** Which the database checks at the commit only. */
	@Idempotent(transaction = TransactionMode.JOIN)
	@PostMapping("/deferred")
	Mono<ResponseEntity<String>> deferred(@RequestHeader(KEY) String key, @RequestHeader("X-Slot") String slot) {
		return this.ledger.book(key, slot)
			.thenReturn(ResponseEntity.ok()
				.header("X-Payment", key)
				.header(HttpHeaders.SET_COOKIE, ResponseCookie.from("payment", key).build().toString())
				.body("booked"));
	}

	@Idempotent(transaction = TransactionMode.JOIN, duplicateOn = DataAccessException.class, recover = "booked")
	@PostMapping("/deferred-twice")
	Mono<String> deferredTwice(@RequestHeader(KEY) String key, @RequestHeader("X-Slot") String slot) {
		return this.ledger.book(key, slot).thenReturn("booked");
	}

	Mono<String> booked(String key, String slot) {
		return this.ledger.find(slot).map((first) -> "booked by " + first);
	}

	@Idempotent(transaction = TransactionMode.JOIN, duplicateOn = DataIntegrityViolationException.class,
			recover = "paidAlready")
	@PostMapping("/duplicate")
	Mono<String> duplicate(@RequestHeader(KEY) String key) {
		return this.ledger.pay("same").thenReturn("paid");
	}

	Mono<String> paidAlready(String key) {
		return Mono.just("paid before");
	}

	@Idempotent(transaction = TransactionMode.JOIN)
	@PostMapping("/large")
	Mono<ResponseEntity<String>> large(@RequestHeader(KEY) String key) {
		return this.ledger.pay(key)
			.thenReturn(ResponseEntity.ok().header("X-Payment", key).body("x".repeat(2_000_000)));
	}

	@Idempotent(transaction = TransactionMode.JOIN)
	@PostMapping("/large-deferred")
	Mono<String> largeDeferred(@RequestHeader(KEY) String key, @RequestHeader("X-Slot") String slot) {
		return this.ledger.book(key, slot).thenReturn("x".repeat(2_000_000));
	}

	@Idempotent(transaction = TransactionMode.JOIN)
	@PostMapping("/gated")
	Mono<String> gated(@RequestHeader(KEY) String key) {
		return this.ledger.pay(key).then(gate(key)).thenReturn("paid " + key);
	}

	/** Its duplicates wait for as long as a busy machine may need. */
	@Idempotent(transaction = TransactionMode.JOIN, conflict = ConflictMode.WAIT, waitTimeout = "60s")
	@PostMapping("/gated-and-waited-for")
	Mono<String> gatedAndWaitedFor(@RequestHeader(KEY) String key) {
		return gated(key);
	}

	@Idempotent(transaction = TransactionMode.JOIN, conflict = ConflictMode.WAIT, waitTimeout = "60s")
	@PostMapping("/gated-failure")
	Mono<String> gatedFailure(@RequestHeader(KEY) String key) {
		return this.ledger.pay(key)
			.then(gate(key))
			.then(Mono.defer(() -> FAILED.add(key) ? Mono.error(new IllegalStateException("It fails on purpose"))
					: Mono.just("paid")));
	}

	@Idempotent(transaction = TransactionMode.JOIN, mode = IdempotencyMode.LOCK)
	@PostMapping("/lock")
	Mono<String> lock(@RequestHeader(KEY) String key, @RequestHeader("X-Slot") String slot) {
		return this.ledger.pay(slot).then(gate(slot)).thenReturn("paid " + slot);
	}

	@Idempotent(transaction = TransactionMode.JOIN, mode = IdempotencyMode.REJECT)
	@PostMapping("/reject")
	Mono<String> reject(@RequestHeader(KEY) String key) {
		return this.ledger.pay(key).thenReturn("paid " + key);
	}

	@Idempotent(transaction = TransactionMode.JOIN)
	@PostMapping("/times-out")
	Mono<String> timesOut(@RequestHeader(KEY) String key) {
		return this.ledger.pay(key).then(Mono.<String>error(new TimeoutException("It takes too long on purpose")));
	}

	@Idempotent(transaction = TransactionMode.JOIN)
	@PostMapping("/context")
	Mono<String> context(@RequestHeader(KEY) String key) {
		return this.ledger.pay(key)
			.then(ReactiveIdempotencyContext.get())
			.doOnNext(IdempotencyContext::releaseKey)
			.map(IdempotencyContext::key);
	}

	static Mono<Void> gate(String name) {
		return Mono.defer(() -> {
			Mono<Void> gate = gateOf(name).asMono();
			entered(name).tryEmitEmpty();
			return gate;
		});
	}

	static Sinks.Empty<Void> gateOf(String name) {
		return GATES.computeIfAbsent(name, (key) -> Sinks.empty());
	}

	static Sinks.Empty<Void> entered(String name) {
		return ENTERED.computeIfAbsent(name, (key) -> Sinks.empty());
	}

	static final class Handled extends RuntimeException {

		private static final long serialVersionUID = 1L;

		Handled(String key) {
			super(key);
		}

	}

	/** Writes the rows. */
	@Component
	static class Ledger {

		private final DatabaseClient client;

		Ledger(ConnectionFactory connections) {
			this.client = DatabaseClient.create(connections);
		}

		public Mono<Void> pay(String id) {
			return this.client.sql("INSERT INTO payment (id) VALUES ('" + id + "')").then();
		}

		public Mono<Void> book(String id, String slot) {
			return this.client.sql("INSERT INTO payment (id, slot) VALUES ('" + id + "', '" + slot + "')").then();
		}

		public Mono<String> find(String slot) {
			return this.client.sql("SELECT id FROM payment WHERE slot = '" + slot + "'")
				.map((row) -> row.get(0, String.class))
				.one();
		}

		@Transactional
		public Mono<Void> payInTransaction(String id) {
			return pay(id);
		}

		@Transactional
		public Mono<Void> failInTransaction() {
			return Mono.error(new IllegalStateException("It fails on purpose"));
		}

	}

	/** Methods of a bean that is no controller. */
	@Component
	static class Payments {

		private final Ledger ledger;

		Payments(Ledger ledger) {
			this.ledger = ledger;
		}

		@Idempotent(key = "#id", transaction = TransactionMode.JOIN)
		public Mono<String> one(String id) {
			return this.ledger.pay(id).thenReturn("paid " + id);
		}

		@Idempotent(key = "#id", transaction = TransactionMode.JOIN)
		public Flux<String> many(String id) {
			return Flux.concat(this.ledger.pay(id).thenReturn("paid"), Mono.just(id));
		}

		@Idempotent(key = "#id", transaction = TransactionMode.JOIN)
		public Mono<Void> nothing(String id) {
			return this.ledger.pay(id);
		}

		@Idempotent(key = "#id", transaction = TransactionMode.JOIN)
		public Mono<String> fails(String id) {
			return this.ledger.pay(id).then(Mono.error(new IllegalStateException("It fails on purpose")));
		}

		@Idempotent(key = "#id", transaction = TransactionMode.JOIN)
		public Mono<String> deferred(String id, String slot) {
			return this.ledger.book(id, slot).thenReturn("booked");
		}

		@Idempotent(key = "#id", transaction = TransactionMode.JOIN, onFailure = FailureMode.REMEMBER)
		public Mono<String> remembered(String id, String slot) {
			return this.ledger.book(id, slot).thenReturn("booked");
		}

		@Idempotent(key = "#id", transaction = TransactionMode.JOIN, conflict = ConflictMode.WAIT)
		public Mono<String> gated(String id) {
			return this.ledger.pay(id).then(gate(id)).timeout(Duration.ofMinutes(1)).thenReturn("paid " + id);
		}

	}

}
