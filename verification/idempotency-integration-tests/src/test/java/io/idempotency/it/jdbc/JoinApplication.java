package io.idempotency.it.jdbc;

import java.io.EOFException;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import javax.sql.DataSource;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyContext;
import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import io.idempotency.store.jdbc.JdbcSchema;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.stereotype.Controller;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.View;
import org.springframework.web.util.ContentCachingResponseWrapper;

/** Orders whose records commit with them. The {@link DataSource} comes from the test. */
@SpringBootConfiguration
@EnableAutoConfiguration
@EnableTransactionManagement
@Import({ JoinApplication.Orders.class, JoinApplication.OrderController.class, JoinApplication.ViewController.class })
class JoinApplication {

	@Bean
	SecurityFilterChain security(HttpSecurity http) throws Exception {
		return http.csrf((csrf) -> csrf.disable())
			.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
			.build();
	}

	/** Holds some answers back itself, inside of the guard. */
	@Bean
	Filter wrapping() {
		return (request, response, chain) -> {
			if (request.getParameter("wrapped") == null) {
				chain.doFilter(request, response);
				return;
			}
			ContentCachingResponseWrapper wrapper = new ContentCachingResponseWrapper((HttpServletResponse) response);
			chain.doFilter(request, wrapper);
			wrapper.copyBodyToResponse();
		};
	}

	@Bean
	JdbcTemplate jdbcTemplate(DataSource dataSource) {
		JdbcTemplate jdbc = new JdbcTemplate(dataSource);
		jdbc.execute("create table if not exists orders (ref varchar(100) primary key, note varchar(200))");
		return jdbc;
	}

	@Bean
	JdbcIdempotencyStore idempotencyStore(DataSource dataSource) {
		new JdbcSchema(dataSource, JdbcIdempotencyStore.DEFAULT_TABLE_NAME).create();
		return new JdbcIdempotencyStore(dataSource);
	}

	@Bean
	PlatformTransactionManager transactionManager(DataSource dataSource,
			ObjectProvider<TransactionExecutionListener> listeners) {
		DataSourceTransactionManager manager = new DataSourceTransactionManager(dataSource);
		listeners.orderedStream().forEach(manager::addListener);
		return manager;
	}

	/** What goes wrong is said by the reference of the order. */
	static class Orders {

		final AtomicInteger runs = new AtomicInteger();

		/** What who listens to the work of a failure is told. */
		final List<Integer> ends = new CopyOnWriteArrayList<>();

		volatile CountDownLatch running = new CountDownLatch(0);

		volatile CountDownLatch mayEnd = new CountDownLatch(0);

		/** The state of the record when its transaction has just committed. */
		volatile @Nullable String stateAfterCommit;

		private final JdbcTemplate jdbc;

		Orders(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Transactional
		@Idempotent(key = "#ref", transaction = TransactionMode.JOIN)
		public String place(String ref) throws InterruptedException {
			return insert(ref);
		}

		@Idempotent(key = "#ref", transaction = TransactionMode.JOIN)
		public String placeLarge(String ref, int size) throws InterruptedException {
			insert(ref);
			return "x".repeat(size);
		}

		@Transactional
		@Idempotent(key = "#ref", transaction = TransactionMode.JOIN, onFailure = FailureMode.REMEMBER)
		public String placeAndRemember(String ref) throws InterruptedException {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCompletion(int status) {
					Orders.this.ends.add(status);
				}

			});
			insert(ref);
			throw new IllegalStateException("failed in run " + this.runs.get());
		}

		@Transactional
		@Idempotent(key = "#ref", transaction = TransactionMode.JOIN, duplicateOn = DuplicateKeyException.class,
				recover = "find")
		public String placeOrFind(String ref) throws InterruptedException {
			return insert(ref);
		}

		@Transactional
		public String find(String ref) {
			return "found " + this.jdbc.queryForObject("select note from orders where ref = ?", String.class, ref);
		}

		@Transactional
		@Idempotent(key = "#ref", transaction = TransactionMode.JOIN)
		public String placeAndRollBack(String ref) throws InterruptedException {
			String note = insert(ref);
			TransactionAspectSupport.currentTransactionStatus().setRollbackOnly();
			return note;
		}

		@Transactional
		@Idempotent(key = "#ref", transaction = TransactionMode.JOIN)
		public String placeAndForget(String ref) throws InterruptedException {
			String note = insert(ref + "-" + this.runs.get());
			IdempotencyContext.current().orElseThrow().releaseKey();
			return note;
		}

		/** Has no result. */
		@Transactional
		@Idempotent(key = "#ref", transaction = TransactionMode.JOIN)
		public void note(String ref, Consumer<String> work) throws InterruptedException {
			insert(ref);
			work.accept(state("Orders.note("));
		}

		void committed(String operation) {
			this.stateAfterCommit = state(operation);
		}

		/** The state of the latest record of an operation. */
		String state(String operation) {
			return this.jdbc.queryForObject(
					"select state from idempotency_record where operation like ? order by fence desc limit 1",
					String.class, "%" + operation + "%");
		}

		@Transactional(isolation = Isolation.SERIALIZABLE)
		@Idempotent(key = "#ref", transaction = TransactionMode.JOIN)
		public int isolation(String ref) {
			Integer level = TransactionSynchronizationManager.getCurrentTransactionIsolationLevel();
			return (level != null) ? level : TransactionDefinition.ISOLATION_DEFAULT;
		}

		String insert(String ref) throws InterruptedException {
			String note = "order in run " + this.runs.incrementAndGet();
			this.jdbc.update("insert into orders (ref, note) values (?, ?)", ref, note);
			this.running.countDown();
			this.mayEnd.await();
			return note;
		}

	}

	static class LateFailure extends RuntimeException {

		private static final long serialVersionUID = 1L;

	}

	/** What happens between the return of the handler and the end of its answer. */
	enum OnTheWay {

		NOTHING(false), COMMIT_FAILS(true), COMMIT_OF_A_LARGE_ANSWER_FAILS(true), LARGE_ANSWER(false),
		RENDERING_FAILS(false);

		private final boolean failsAtCommit;

		OnTheWay(boolean failsAtCommit) {
			this.failsAtCommit = failsAtCommit;
		}

		private Object body(String note) {
			return switch (this) {
				case LARGE_ANSWER, COMMIT_OF_A_LARGE_ANSWER_FAILS ->
					Map.of("note", note, "filling", "x".repeat(200_000));
				case RENDERING_FAILS -> new Object() {

					@SuppressWarnings("unused")
					public String getNote() {
						throw new IllegalStateException("cannot be rendered");
					}

				};
				default -> Map.of("note", note);
			};
		}

	}

	/** Has the answers of an order rendered after its adapter. */
	@Controller
	static class ViewController {

		private final Orders orders;

		ViewController(Orders orders) {
			this.orders = orders;
		}

		@PostMapping("/join/view")
		@Idempotent(transaction = TransactionMode.JOIN)
		public View place(@RequestParam String ref) throws InterruptedException {
			String note = this.orders.insert(ref);
			return (model, request, response) -> response.getWriter()
				.write(note + ", seen in state " + this.orders.state("ViewController"));
		}

	}

	@RestController
	static class OrderController {

		private final Orders orders;

		OrderController(Orders orders) {
			this.orders = orders;
		}

		@PostMapping("/join")
		@Transactional
		@Idempotent(transaction = TransactionMode.JOIN)
		public ResponseEntity<String> place(@RequestParam String ref, @RequestParam(defaultValue = "201") int status)
				throws InterruptedException {
			return ResponseEntity.status(status).body(this.orders.insert(ref));
		}

		/** The connection to the database breaks before the transaction commits. */
		@PostMapping("/join/lost-commit")
		@Transactional
		@Idempotent(transaction = TransactionMode.JOIN)
		public String loseTheCommit(@RequestParam String ref) throws InterruptedException {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void beforeCommit(boolean readOnly) {
					throw new IllegalStateException("The changes could not be sent",
							new SQLException("An I/O error occurred", new EOFException()));
				}

			});
			return this.orders.insert(ref);
		}

		/**
		 * Something happens between the return of the handler and the end of its answer.
		 */
		@PostMapping("/join/on-the-way")
		@Transactional
		@Idempotent(transaction = TransactionMode.JOIN)
		public ResponseEntity<?> place(@RequestParam String ref, @RequestParam OnTheWay what)
				throws InterruptedException {
			String note = this.orders.insert(ref);
			Orders written = this.orders;
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void beforeCommit(boolean readOnly) {
					if (what.failsAtCommit) {
						throw new LateFailure();
					}
				}

				@Override
				public void afterCommit() {
					written.committed("OrderController.place(");
				}

			});
			return ResponseEntity.status(HttpStatus.CREATED).header("X-Order", note).body(what.body(note));
		}

		/** As a unique index that speaks at the commit. */
		@PostMapping("/join/late-duplicate")
		@Transactional
		@Idempotent(transaction = TransactionMode.JOIN, duplicateOn = DuplicateKeyException.class, recover = "found")
		public String placeOrFind(@RequestParam String ref) throws InterruptedException {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void beforeCommit(boolean readOnly) {
					throw new DuplicateKeyException("at the commit");
				}

			});
			return this.orders.insert(ref);
		}

		public String found(String ref) {
			return "found " + ref;
		}

		@ExceptionHandler
		ResponseEntity<String> late(LateFailure failure) {
			return ResponseEntity.status(HttpStatus.CONFLICT).body("late");
		}

		@PostMapping("/join/failing")
		@Transactional
		@Idempotent(transaction = TransactionMode.JOIN)
		public String fail(@RequestParam String ref, @RequestParam int status) throws InterruptedException {
			this.orders.insert(ref);
			throw new ResponseStatusException(HttpStatus.valueOf(status), "failed");
		}

	}

}
