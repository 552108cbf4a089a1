package io.idempotency.it.jdbc;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import io.idempotency.it.servers.SqlDatabase;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.transaction.TransactionTimedOutException;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

import static org.awaitility.Awaitility.await;

/**
 * Payments whose answers commit with them. That a reference is used once is checked by
 * PostgreSQL when it commits. Some die on the way.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(CommitApplication.Payments.class)
class CommitApplication {

	static final String TABLE = "create table if not exists payment (ref varchar(100), note text,"
			+ " constraint payment_ref unique (ref) deferrable initially deferred)";

	/** A JVM that is killed. */
	public static void main(String[] args) {
		ConfigurableApplicationContext application = SpringApplication.run(CommitApplication.class, args);
		System.out.println("port " + application.getEnvironment().getProperty("local.server.port"));
	}

	@Bean
	SecurityFilterChain security(HttpSecurity http) throws Exception {
		return http.csrf((csrf) -> csrf.disable())
			.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
			.build();
	}

	@Bean
	DataSource dataSource(Environment environment) {
		return new SqlDatabase(environment.getRequiredProperty("test.database.url"),
				environment.getRequiredProperty("test.database.port", Integer.class),
				environment.getRequiredProperty("test.database.user"))
			.pool(4, (pool) -> pool.setConnectionTimeout(2_000));
	}

	/** Where the JVM of a payment dies. */
	enum Death {

		NEVER, BEFORE_THE_COMMIT, AFTER_THE_COMMIT

	}

	/** A rejection that rolls nothing back, as far as Spring is concerned. */
	static class Rejected extends Exception {

		private static final long serialVersionUID = 1L;

	}

	@RestController
	static class Payments {

		final AtomicInteger runs = new AtomicInteger();

		/** The state of the record when its transaction has just committed. */
		volatile @Nullable String stateAfterCommit;

		private final JdbcTemplate jdbc;

		Payments(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@PostMapping("/pay")
		@Transactional
		@Idempotent(transaction = TransactionMode.JOIN)
		public ResponseEntity<String> pay(@RequestParam String ref, @RequestParam(defaultValue = "NEVER") Death death,
				@RequestParam(defaultValue = "0") int filling) {
			whileCommitting("pay(", death);
			return answer(insert(ref) + "x".repeat(filling));
		}

		@PostMapping("/pay-or-find")
		@Transactional
		@Idempotent(transaction = TransactionMode.JOIN, duplicateOn = DuplicateKeyException.class, recover = "found")
		public ResponseEntity<String> payOrFind(@RequestParam String ref) {
			whileCommitting("payOrFind(", Death.NEVER);
			return answer(insert(ref));
		}

		public ResponseEntity<String> found(String ref) {
			return ResponseEntity.ok()
				.header("X-Found", ref)
				.body("found " + this.jdbc.queryForObject("select note from payment where ref = ?", String.class, ref));
		}

		@PostMapping("/pay-or-find-object")
		@ResponseStatus(HttpStatus.ACCEPTED)
		@Transactional
		@Idempotent(transaction = TransactionMode.JOIN, duplicateOn = DuplicateKeyException.class,
				recover = "foundNote")
		public Note payOrFindObject(@RequestParam String ref) {
			return new Note(insert(ref));
		}

		public Note foundNote(String ref) {
			return new Note(
					"found " + this.jdbc.queryForObject("select note from payment where ref = ?", String.class, ref));
		}

		@PostMapping("/pay-in-a-session")
		@Transactional
		@Idempotent(transaction = TransactionMode.JOIN)
		public ResponseEntity<String> payInASession(@RequestParam String ref, HttpServletRequest request) {
			request.getSession();
			return ResponseEntity.ok().header("Set-Cookie", "payment=" + ref).body(insert(ref));
		}

		@PostMapping("/read-only")
		@Transactional(readOnly = true)
		@Idempotent(transaction = TransactionMode.JOIN)
		public ResponseEntity<String> read(@RequestParam String ref) {
			return answer(insert(ref));
		}

		/** Takes longer than its transaction may take. */
		@PostMapping("/too-long")
		@Transactional(timeout = 1)
		@Idempotent(transaction = TransactionMode.JOIN)
		public ResponseEntity<String> payTooLong(@RequestParam String ref, @RequestParam boolean asks) {
			String note = insert(ref);
			if (asks) {
				this.jdbc.execute("select pg_sleep(60)");
			}
			await().pollDelay(Duration.ofMillis(1_100)).until(() -> true);
			return answer(note);
		}

		@PostMapping("/reject")
		@Transactional
		@Idempotent(transaction = TransactionMode.JOIN)
		public String reject(@RequestParam String ref) throws Rejected {
			insert(ref);
			throw new Rejected();
		}

		@PostMapping("/reject/rollback-for")
		@Transactional(rollbackFor = Rejected.class)
		@Idempotent(transaction = TransactionMode.JOIN)
		public String rejectRollingBack(@RequestParam String ref) throws Rejected {
			return reject(ref);
		}

		@PostMapping("/reject/no-rollback-for")
		@Transactional(noRollbackFor = Rejected.class)
		@Idempotent(transaction = TransactionMode.JOIN)
		public String rejectWithoutRollback(@RequestParam String ref) throws Rejected {
			return reject(ref);
		}

		private String insert(String ref) {
			String note = "payment in run " + this.runs.incrementAndGet();
			this.jdbc.update("insert into payment (ref, note) values (?, ?)", ref, note);
			return note;
		}

		private static ResponseEntity<String> answer(String note) {
			return ResponseEntity.status(HttpStatus.CREATED).header("X-Payment", "yes").body(note);
		}

		private void whileCommitting(String method, Death death) {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void beforeCommit(boolean readOnly) {
					if (death == Death.BEFORE_THE_COMMIT) {
						die();
					}
				}

				@Override
				public void afterCommit() {
					if (death == Death.AFTER_THE_COMMIT) {
						die();
					}
					Payments.this.stateAfterCommit = Payments.this.jdbc.queryForObject(
							"select state from idempotency_record where operation like ? order by fence desc limit 1",
							String.class, "%Payments." + method + "%");
				}

			});
		}

		/** SIGKILL. */
		private static void die() {
			try {
				new ProcessBuilder("kill", "-KILL", Long.toString(ProcessHandle.current().pid())).start();
				new CountDownLatch(1).await();
			}
			catch (IOException | InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

		@ExceptionHandler
		ResponseEntity<String> duplicate(DuplicateKeyException ex) {
			return ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE).body("taken");
		}

		@ExceptionHandler
		ResponseEntity<String> rejected(Rejected ex) {
			return ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE).body("rejected");
		}

		@ExceptionHandler({ QueryTimeoutException.class, TransactionTimedOutException.class })
		ResponseEntity<String> late(Exception ex) {
			return ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE).body("late");
		}

	}

	record Note(String note) {
	}

}
