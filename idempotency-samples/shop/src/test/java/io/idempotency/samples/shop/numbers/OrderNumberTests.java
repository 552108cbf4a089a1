package io.idempotency.samples.shop.numbers;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import javax.sql.DataSource;

import me.ahoo.cosid.machine.ClockBackwardsSynchronizer;
import me.ahoo.cosid.machine.InstanceId;
import me.ahoo.cosid.machine.MachineIdLostException;
import me.ahoo.cosid.machine.MachineIdOverflowException;
import me.ahoo.cosid.machine.MachineState;
import me.ahoo.cosid.snowflake.ClockSyncSnowflakeId;
import me.ahoo.cosid.snowflake.MillisecondSnowflakeId;
import me.ahoo.cosid.snowflake.exception.ClockTooManyBackwardsException;
import io.idempotency.test.ConcurrentDuplicates;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Order numbers on the database of the shop, each "process" a generator of its own.
 */
class OrderNumberTests {

	private static final String NAMESPACE = "shop.order";

	private static final Duration LEASE = Duration.ofMinutes(5);

	private DriverManagerDataSource database;

	private JdbcClient jdbc;

	private PlatformTransactionManager transactionManager;

	private ApplicationContextRunner application;

	@BeforeEach
	void createTables() {
		this.database = new DriverManagerDataSource(
				"jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=20000");
		new ResourceDatabasePopulator(new ClassPathResource("schema.sql"), new ClassPathResource("data.sql"))
			.execute(this.database);
		this.jdbc = JdbcClient.create(this.database);
		this.transactionManager = new JdbcTransactionManager(this.database);
		this.application = new ApplicationContextRunner().withUserConfiguration(OrderNumberConfiguration.class)
			.withBean(JdbcClient.class, () -> this.jdbc)
			.withBean(PlatformTransactionManager.class, () -> this.transactionManager)
			.withPropertyValues("shop.order-numbers.machine-id=7");
	}

	@Test
	void withoutProfileTheWorkerIsConfigured() {
		this.application.run((context) -> {
			assertThatNumbersAreUnique(context.getBean(OrderNumbers.class));
			assertThat(workers()).isZero();
		});
	}

	@Test
	void numbersOfOneWorkerSortByTime() {
		OrderNumbers numbers = OrderNumberConfiguration.inBase36(OrderNumberConfiguration.snowflake(7));
		List<String> made = new ArrayList<>();
		for (int i = 0; i < 10_000; i++) {
			made.add(numbers.next());
		}
		assertThat(made).isSorted().doesNotHaveDuplicates().allMatch((number) -> number.matches("[0-9A-Z]{13}"));
	}

	@Test
	void workersTakeTheirIdsFromTheDatabaseAndGiveThemBack() {
		ApplicationContextRunner leased = this.application.withPropertyValues("spring.profiles.active=ids-jdbc");
		leased.run((first) -> {
			assertThat(first.getBean(WorkerLease.class).machineId()).isZero();
			leased.run((second) -> {
				assertThat(second.getBean(WorkerLease.class).machineId()).isEqualTo(1);
				assertThatNumbersAreUnique(first.getBean(OrderNumbers.class), second.getBean(OrderNumbers.class));
			});
			leased.run((third) -> assertThat(third.getBean(WorkerLease.class).machineId()).isEqualTo(1));
		});
		assertThat(workers()).isEqualTo(2);
	}

	@Test
	void segmentsOfTwoProcessesDoNotOverlap() {
		ApplicationContextRunner segments = this.application.withPropertyValues("spring.profiles.active=ids-segment");
		segments.run((first) -> segments.run((second) -> assertThatNumbersAreUnique(first.getBean(OrderNumbers.class),
				second.getBean(OrderNumbers.class))));
	}

	@Test
	void segmentThatWasTakenInARolledBackTransactionIsNotGivenOutAgain() {
		JdbcSegmentDistributor distributor = new JdbcSegmentDistributor(this.jdbc, this.transactionManager, NAMESPACE,
				100);
		Long lost = new TransactionTemplate(this.transactionManager).execute((status) -> {
			status.setRollbackOnly();
			return distributor.nextMaxId(100);
		});
		assertThat(lost).isEqualTo(100);
		assertThat(distributor.nextMaxId(100)).isEqualTo(200);
	}

	@Test
	void processesThatStartTogetherGetDifferentWorkers() throws Exception {
		List<Integer> ids = ConcurrentDuplicates.of(16)
			.run((index) -> distribute(new JdbcMachineIdDistributor(this.jdbc), 10))
			.valuesOrFail();
		assertThat(ids).doesNotHaveDuplicates().hasSize(16);
	}

	@Test
	void noMoreWorkersThanThereAreIds() {
		distribute(new JdbcMachineIdDistributor(this.jdbc), 1);
		distribute(new JdbcMachineIdDistributor(this.jdbc), 1);
		assertThatExceptionOfType(MachineIdOverflowException.class)
			.isThrownBy(() -> distribute(new JdbcMachineIdDistributor(this.jdbc), 1));
	}

	@Test
	void idOfADeadWorkerIsTakenWhenItsLeaseHasEndedAndTheDeadOneIsTold() {
		JdbcMachineIdDistributor dead = new JdbcMachineIdDistributor(this.jdbc);
		InstanceId deadInstance = InstanceId.of("dead", false);
		int id = dead.distribute(NAMESPACE, 10, deadInstance, LEASE).getMachineId();
		assertThat(distribute(new JdbcMachineIdDistributor(this.jdbc), 10)).isNotEqualTo(id);
		this.jdbc.sql("update order_worker set renewed = renewed - :aWhile where machine_id = :id")
			.param("aWhile", LEASE.toMillis() + 1000)
			.param("id", id)
			.update();
		assertThat(distribute(new JdbcMachineIdDistributor(this.jdbc), 10)).isEqualTo(id);
		assertThatExceptionOfType(MachineIdLostException.class)
			.isThrownBy(() -> dead.guard(NAMESPACE, deadInstance, LEASE));
	}

	/** Both would make the same numbers. */
	@Test
	void clockThatIsAheadTakesNoIdOfAWorkerThatLives() {
		int id = distribute(new JdbcMachineIdDistributor(this.jdbc), 10);
		InstantSource ahead = () -> Instant.now().plus(LEASE).plus(LEASE);
		assertThat(distribute(new JdbcMachineIdDistributor(this.jdbc, ahead), 10)).isNotEqualTo(id);
	}

	/** It is renewed after its id was found to be free, and its clock stands still. */
	@Test
	void workerThatIsRenewedInTheLastMomentKeepsItsId() {
		InstantSource still = InstantSource.fixed(Instant.now());
		JdbcMachineIdDistributor living = new JdbcMachineIdDistributor(this.jdbc, still);
		InstanceId instance = InstanceId.of("living", false);
		int id = living.distribute(NAMESPACE, 10, instance, LEASE).getMachineId();
		this.jdbc.sql("update order_worker set renewed = 0").update();
		JdbcMachineIdDistributor other = new JdbcMachineIdDistributor(
				JdbcClient.create(beforeAnIdIsTaken(() -> living.guard(NAMESPACE, instance, LEASE))));
		assertThat(distribute(other, 10)).isNotEqualTo(id);
	}

	private DataSource beforeAnIdIsTaken(Runnable action) {
		return new DelegatingDataSource(this.database) {

			@Override
			public Connection getConnection() throws SQLException {
				Connection connection = super.getConnection();
				return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
						new Class<?>[] { Connection.class }, (proxy, method, arguments) -> {
							if (method.getName().equals("prepareStatement")
									&& arguments[0].toString().startsWith("update order_worker set instance_id")) {
								action.run();
							}
							return method.invoke(connection, arguments);
						});
			}

		};
	}

	@Test
	void tableOfAnOlderShopGetsItsNewColumn() {
		this.jdbc.sql("alter table order_worker drop column renewed").update();
		this.jdbc
			.sql("insert into order_worker (namespace, machine_id, instance_id, last_seen) values (:n, 0, 'old', 1)")
			.param("n", NAMESPACE)
			.update();
		new ResourceDatabasePopulator(new ClassPathResource("schema.sql")).execute(this.database);
		assertThat(distribute(new JdbcMachineIdDistributor(this.jdbc), 10)).isOne();
	}

	@Test
	void workerWhoseClockIsBehindItsPredecessorWaitsUntilItIsPast() {
		JdbcMachineIdDistributor predecessor = new JdbcMachineIdDistributor(this.jdbc);
		InstanceId instance = InstanceId.of("predecessor", false);
		predecessor.distribute(NAMESPACE, 10, instance, LEASE);
		predecessor.revert(NAMESPACE, instance);
		long ahead = System.currentTimeMillis() + 500;
		this.jdbc.sql("update order_worker set last_seen = :ahead").param("ahead", ahead).update();
		MachineState state = new JdbcMachineIdDistributor(this.jdbc).distribute(NAMESPACE, 10,
				InstanceId.of("successor", false), LEASE);
		assertThat(state.getMachineId()).isZero();
		assertThat(System.currentTimeMillis()).isGreaterThanOrEqualTo(ahead);
	}

	@Test
	void clockThatGoesBackIsWaitedFor() {
		SteppedClock clock = new SteppedClock();
		AtomicInteger waits = new AtomicInteger();
		ClockSyncSnowflakeId generator = new ClockSyncSnowflakeId(clock, waitingUntil(clock, waits));
		long before = generator.generate();
		clock.now.addAndGet(-1500);
		long after = generator.generate();
		assertThat(after).isGreaterThan(before);
		assertThat(waits).hasValue(1);
	}

	@Test
	void clockThatGoesBackTooFarMakesNoNumber() {
		SteppedClock clock = new SteppedClock();
		ClockSyncSnowflakeId generator = new ClockSyncSnowflakeId(clock, OrderNumberConfiguration.PATIENT);
		clock.now.addAndGet(60_000);
		assertThat(generator.generate()).isPositive();
		clock.now.addAndGet(-60_000);
		assertThatExceptionOfType(ClockTooManyBackwardsException.class).isThrownBy(generator::generate);
	}

	private static ClockBackwardsSynchronizer waitingUntil(SteppedClock clock, AtomicInteger waits) {
		return new ClockBackwardsSynchronizer() {

			@Override
			public void sync(long last) {
				waits.incrementAndGet();
				clock.now.set(last + 1);
			}

			@Override
			public void syncUninterruptibly(long last) {
				sync(last);
			}

		};
	}

	private static int distribute(JdbcMachineIdDistributor distributor, int bits) {
		return distributor.distribute(NAMESPACE, bits, InstanceId.of(UUID.randomUUID().toString(), false), LEASE)
			.getMachineId();
	}

	private static void assertThatNumbersAreUnique(OrderNumbers... processes) throws Exception {
		AtomicInteger next = new AtomicInteger();
		List<Set<String>> made = ConcurrentDuplicates.of(8).run((index) -> {
			OrderNumbers process = processes[next.getAndIncrement() % processes.length];
			Set<String> numbers = new HashSet<>();
			for (int i = 0; i < 1000; i++) {
				numbers.add(process.next());
			}
			return numbers;
		}).valuesOrFail();
		assertThat(made.stream().flatMap(Set::stream)).doesNotHaveDuplicates().hasSize(8000);
	}

	private int workers() {
		return this.jdbc.sql("select count(*) from order_worker").query(Integer.class).single();
	}

	private static final class SteppedClock extends MillisecondSnowflakeId {

		private final AtomicLong now = new AtomicLong(System.currentTimeMillis());

		SteppedClock() {
			super(1);
		}

		@Override
		protected long getCurrentTime() {
			return this.now.get();
		}

	}

}
