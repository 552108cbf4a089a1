package io.idempotency.samples.shop.messages;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import io.idempotency.samples.shop.OrderPlaced;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabase;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A message is sent if and only if its order is there, and stays until a broker has it.
 */
@ExtendWith(OutputCaptureExtension.class)
class OutboxTests {

	private final List<OrderMessage> sent = new ArrayList<>();

	private EmbeddedDatabase database;

	private TransactionTemplate transaction;

	private JdbcClient jdbc;

	@BeforeEach
	void makeTables() {
		this.database = new EmbeddedDatabaseBuilder().setType(EmbeddedDatabaseType.H2)
			.setName(UUID.randomUUID().toString())
			.build();
		new ResourceDatabasePopulator(new ClassPathResource("schema.sql")).execute(this.database);
		this.transaction = new TransactionTemplate(new JdbcTransactionManager(this.database));
		this.jdbc = JdbcClient.create(this.database);
	}

	@AfterEach
	void dropTables() {
		this.database.shutdown();
	}

	@Test
	void rowsAreSentInTheirOrderAndOnce() {
		Outbox outbox = outbox(this.sent::add);
		outbox.add(new OrderPlaced("1"));
		outbox.add(new OrderPlaced("2"));
		outbox.relay();
		outbox.relay();
		assertThat(this.sent).extracting(OrderMessage::orderNo).containsExactly("1", "2");
		assertThat(this.sent).extracting(OrderMessage::id).doesNotHaveDuplicates();
	}

	@Test
	void rolledBackOrderHasNoMessage() {
		Outbox outbox = outbox(this.sent::add);
		this.transaction.executeWithoutResult((status) -> {
			outbox.add(new OrderPlaced("1"));
			status.setRollbackOnly();
		});
		outbox.relay();
		assertThat(this.sent).isEmpty();
	}

	@Test
	void rowStaysUntilTheBrokerHasIt(CapturedOutput output) {
		Outbox outbox = outbox((message) -> {
			this.sent.add(message);
			if (this.sent.size() < 3) {
				throw new IllegalStateException("The broker is away");
			}
		});
		outbox.add(new OrderPlaced("1"));
		for (int times = 0; times < 4; times++) {
			outbox.relay();
		}
		assertThat(this.sent).hasSize(3).containsOnly(this.sent.get(0));
		assertThat(output.getOut()).containsOnlyOnce("The broker is away");
	}

	@Test
	void rowThatAnotherRelaySendsIsLeftToIt() {
		List<OrderMessage> sentByOther = new ArrayList<>();
		Outbox other = outbox(sentByOther::add);
		Outbox outbox = outbox((message) -> {
			this.sent.add(message);
			CompletableFuture.runAsync(other::relay).join();
		});
		outbox.add(new OrderPlaced("1"));
		outbox.relay();
		assertThat(this.sent).hasSize(1);
		assertThat(sentByOther).isEmpty();
	}

	private Outbox outbox(Consumer<OrderMessage> broker) {
		OrderPublisher publisher = new OrderPublisher() {

			@Override
			public String broker() {
				return "test";
			}

			@Override
			public void publish(OrderMessage message) {
				broker.accept(message);
			}

		};
		return new Outbox(this.jdbc, this.transaction, List.of(publisher), new DemoDeliveries());
	}

}
