package io.idempotency.samples.shop.numbers;

import java.time.Duration;
import java.util.UUID;

import me.ahoo.cosid.machine.DefaultMachineIdGuarder;
import me.ahoo.cosid.machine.InstanceId;
import me.ahoo.cosid.machine.MachineIdDistributor;
import me.ahoo.cosid.machine.MachineIdGuarder;
import me.ahoo.cosid.snowflake.MillisecondSnowflakeId;

import org.springframework.beans.factory.DisposableBean;

/**
 * The worker id of this process: leased at startup, renewed every minute, and released at
 * shutdown. If the process crashes, its id stays leased for five minutes. So a process
 * that only hangs does not continue with an id that another process has.
 */
final class WorkerLease implements DisposableBean {

	private static final Duration LEASE = Duration.ofMinutes(5);

	private final InstanceId instance = InstanceId.of(UUID.randomUUID().toString(), false);

	private final MachineIdDistributor distributor;

	private final String namespace;

	private final int machineId;

	private final MachineIdGuarder guarder;

	WorkerLease(MachineIdDistributor distributor, String namespace) {
		this.distributor = distributor;
		this.namespace = namespace;
		this.machineId = distributor
			.distribute(namespace, MillisecondSnowflakeId.DEFAULT_MACHINE_BIT, this.instance, LEASE)
			.getMachineId();
		this.guarder = new DefaultMachineIdGuarder(distributor, LEASE);
		this.guarder.register(namespace, this.instance);
		this.guarder.start();
	}

	int machineId() {
		return this.machineId;
	}

	@Override
	public void destroy() {
		this.guarder.stop();
		this.distributor.revert(this.namespace, this.instance);
	}

}
