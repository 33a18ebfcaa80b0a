"""The centroidal MPC; see `CentroidalMPC`."""


class CentroidalMPC:
    pass
